import './styles/base.css';
import './styles/parts.css';
import './styles/pages.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { followKeys } from './keys.ts';
import { begin } from './state.ts';
import { applyTheme } from './theme.ts';

applyTheme();
followKeys();
const root = document.getElementById('app');
if (root) render(<App />, root);
void begin();
