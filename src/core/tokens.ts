/**
 * A cheap estimate of how many tokens a text costs, by classes of characters; real tokenizers take many times the start
 * of the whole program to load. It errs on the high side.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let letters = 0;
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) {
      letters++;
      continue;
    }
    if (code >= 48 && code <= 57) {
      digits++;
      continue;
    }
    tokens += wordTokens(letters) + Math.ceil(digits / 2.5);
    letters = 0;
    digits = 0;
    // A space mostly belongs to the word after it; other scripts cost about a token a character.
    if (code === 32) tokens += 0.1;
    else if (code < 128) tokens += 0.75;
    else if (code < 0x800) tokens += 0.6;
    else tokens += 1.1;
  }
  return Math.ceil(tokens + wordTokens(letters) + Math.ceil(digits / 2.5));
}

function wordTokens(letters: number): number {
  return letters === 0 ? 0 : letters <= 6 ? 1 : Math.ceil(letters / 5);
}
