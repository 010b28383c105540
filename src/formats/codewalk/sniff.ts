/**
 * Whether a STATE.md is a Codewalk one: a YAML document with `initiative:` at its top level, bare or in a fence. The
 * same name is used by other tools for pages with headings.
 */
export function isCodewalkState(text: string): boolean {
  const head = text.slice(0, 20_000).replace(/^\ufeff/, '');
  const fence = /^(?:`{3,}|~{3,})(?:ya?ml)?[ \t]*\r?$/m.exec(head);
  const found = /^(["']?)initiative\1[ \t]*:/m.exec(head);
  if (!found) return false;
  // Above it only comments, blank lines, the marks of a document or fence, and other keys.
  const above = head.slice(0, found.index);
  return (
    (fence !== null && fence.index < found.index) || !/^(?!\s*#|\s*$|---|[\w"'-]+\s*:|\s|```|~~~|%|- )/m.test(above)
  );
}
