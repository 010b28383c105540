/**
 * The parser keeps the position of every value, which takes about a second per megabyte. State files are a thousandth
 * of this limit (the largest known has 159 KB); a larger file is not a state file and must not cause a wait.
 */
export const YAML_LIMIT_CHARACTERS = 16 * 1024 * 1024;

export const tooLarge = (characters: number): string =>
  `This document has ${Math.ceil(characters / 1024 / 1024)} MB of YAML; more than ${YAML_LIMIT_CHARACTERS / 1024 / 1024} MB are not read`;
