import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { apiKey } from '../../api-key.js';
import { App } from './app.js';
import { client } from './graphql/client.js';
import '../../design/design.css';
import './styles/base.css';
import './styles/overlays.css';
import './styles/choices.css';
import './styles/shell.css';
import './styles/surfaces.css';
import './styles/overview.css';
import './styles/domains.css';
import './styles/keys.css';
import './styles/tables.css';
import './styles/requests.css';
import './styles/activity.css';
import './styles/items.css';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element #root');
// A page that is opened in a new tab shows no sign-in for a moment.
await apiKey.whenKnown();
createRoot(root).render(
  <StrictMode>
    <ApolloProvider client={client}>
      <App />
    </ApolloProvider>
  </StrictMode>,
);
