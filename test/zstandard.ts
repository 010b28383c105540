/** A Zstandard file of blocks without compression (type 0) or of one repeated byte (type 1). */
export const zstandardFrame = (blocks: readonly Buffer[], window = 0x58): Buffer =>
  Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, window]), ...blocks]);

export const zstandardBlock = (type: 0 | 1, size: number, bytes: Buffer, isLast = false): Buffer => {
  const head = (size << 3) | (type << 1) | (isLast ? 1 : 0);
  return Buffer.concat([Buffer.from([head & 255, (head >> 8) & 255, head >> 16]), bytes]);
};
