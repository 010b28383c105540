/** j, k and the arrows move through the rows of lists; Enter follows a row's link. */
export function followKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    if (target.closest('input, textarea, select, dialog, [contenteditable]')) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const inRow = target.closest<HTMLElement>('[data-row]');
    // Arrows scroll the page unless a row has the focus.
    if (event.key.startsWith('Arrow') && !inRow) return;
    const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')].filter((row) => row.offsetParent);
    const index = inRow ? rows.indexOf(inRow) + step : step > 0 ? 0 : rows.length - 1;
    const next = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!next) return;
    event.preventDefault();
    const link = next.matches('a, button') ? next : next.querySelector<HTMLElement>('[data-row-focus]');
    (link ?? next).focus();
    next.scrollIntoView({ block: 'nearest' });
  });
}
