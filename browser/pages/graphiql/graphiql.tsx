import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import './graphiql.css';
import { startSignIn } from '../sign-in.js';
import { showSite } from '../site.js';
import { Explorer } from './explorer.js';
import { mendGraphiql } from './mend-graphiql.js';

const place = document.getElementById('content');
if (place) {
  startSignIn();
  showSite();
  mendGraphiql(place);
  createRoot(place).render(<Explorer />);
}
