import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import './graphiql.css';
import { Explorer } from './explorer.js';
import { mendGraphiql } from './mend-graphiql.js';

const place = document.getElementById('content');
if (place) {
  mendGraphiql(place);
  createRoot(place).render(<Explorer />);
}
