/** Whether Windows takes a name for a device, whatever its ending: `NUL`, `aux.md`. */
export const isDeviceName = (name: string): boolean =>
  /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i.test(name);

/** A file name made of any text: what some system would refuse or read as another name is escaped. */
export function portableName(text: string): string {
  const escaped = encodeURIComponent(text).replace(/[*']|\.$/g, hex);
  return isDeviceName(escaped) ? `${hex(escaped.slice(0, 1))}${escaped.slice(1)}` : escaped;
}

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
