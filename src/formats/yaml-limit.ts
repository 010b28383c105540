/**
 * The parser keeps the place of every value, which takes about a second for a megabyte. State files are a thousandth of
 * this (the largest one known has 159 KB); what is larger is no state file, and nobody should have to wait for it.
 */
export const YAML_LIMIT_CHARACTERS = 16 * 1024 * 1024;

export const tooLarge = (characters: number): string =>
  `This document has ${Math.ceil(characters / 1024 / 1024)} MB of YAML; more than ${YAML_LIMIT_CHARACTERS / 1024 / 1024} MB are not read`;
