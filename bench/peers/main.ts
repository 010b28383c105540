export async function runPeers(_words: readonly string[], _say: (sentence: string) => void): Promise<void> {}
