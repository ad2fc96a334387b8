import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import './graphiql.css';
import { Explorer } from './explorer.js';

const place = document.getElementById('graphiql');
if (place) createRoot(place).render(<Explorer />);
