import './reference.css';
import { addCopyButtons } from '../copy-code.js';
import { startSignIn } from '../sign-in.js';
import { followChoices } from './choices.js';
import { startSearch } from './search.js';
import { enableForm } from './try.js';

addCopyButtons();
followChoices();
startSearch();
startSignIn();
enableForm();
