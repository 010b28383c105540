import { signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';
const themes: readonly Theme[] = ['auto', 'light', 'dark'];
const KEY = 'holdfast-theme';

export const theme = signal<Theme>(themes.find((one) => one === remembered()) ?? 'auto');

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'auto';
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  applyTheme();
}

export function applyTheme(): void {
  if (theme.value === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
