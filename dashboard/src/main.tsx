import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { client } from './graphql/client.js';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/dialog.css';
import './styles/choices.css';
import './styles/shell.css';
import './styles/surfaces.css';
import './styles/shell-narrow.css';
import './styles/overview.css';
import './styles/domains.css';
import './styles/tables.css';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has lost its root');
createRoot(root).render(
  <StrictMode>
    <ApolloProvider client={client}>
      <App />
    </ApolloProvider>
  </StrictMode>,
);
