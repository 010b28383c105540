/**
 * Whether a STATE.md is Codewalk's: a YAML document with `initiative:` at its top level, bare or in a fence. Other
 * tools use the same name for pages with headings.
 */
export function isCodewalkState(text: string): boolean {
  const head = text.slice(0, 20_000).replace(/^\ufeff/, '');
  const fence = /^(?:`{3,}|~{3,})(?:ya?ml)?[ \t]*\r?$/m.exec(head);
  const found = /^(["']?)initiative\1[ \t]*:/m.exec(head);
  if (!found) return false;
  // Only comments, blank lines, document or fence markers and other keys may come before it.
  const above = head.slice(0, found.index);
  return (
    (fence !== null && fence.index < found.index) || !/^(?!\s*#|\s*$|---|[\w"'-]+\s*:|\s|```|~~~|%|- )/m.test(above)
  );
}
