import { readFileSync } from 'node:fs';

/**
 * Describes damage before the end of a write-ahead log; null if there is none, or no log. SQLite takes the first frame
 * that does not verify for the end and would silently drop the frames after it. A half-written last frame is not damage:
 * a crash leaves one.
 */
export function damageInLog(file: string): string | null {
  let log: Buffer;
  try {
    log = readFileSync(file);
  } catch {
    return null;
  }
  if (log.length <= HEAD_BYTES) return null;
  const magic = log.readUInt32BE(0);
  if ((magic & ~1) >>> 0 !== MAGIC) return 'Its first bytes are not those of a log.';
  const littleEndian = (magic & 1) === 0;
  let sums = checksum(log, 0, 24, littleEndian, [0, 0]);
  if (sums[0] !== log.readUInt32BE(24) || sums[1] !== log.readUInt32BE(28)) return 'Its head does not verify.';
  const frameBytes = FRAME_HEAD_BYTES + log.readUInt32BE(8);
  const salt = log.subarray(16, 24);
  let damaged = 0;
  let number = 1;
  for (let at = HEAD_BYTES; at + frameBytes <= log.length; at += frameBytes, number++) {
    // After the last frame there may be frames of an earlier use of the file.
    if (!log.subarray(at + 8, at + 16).equals(salt)) {
      damaged ||= number;
      continue;
    }
    if (damaged > 0) return `Frame ${damaged} does not verify, and frame ${number} after it was recorded.`;
    sums = checksum(log, at, at + 8, littleEndian, sums);
    sums = checksum(log, at + FRAME_HEAD_BYTES, at + frameBytes, littleEndian, sums);
    if (sums[0] !== log.readUInt32BE(at + 16) || sums[1] !== log.readUInt32BE(at + 20)) damaged = number;
  }
  return null;
}

const MAGIC = 0x377f0682;
const HEAD_BYTES = 32;
const FRAME_HEAD_BYTES = 24;

type Sums = readonly [number, number];

function checksum(log: Buffer, from: number, to: number, littleEndian: boolean, [first, second]: Sums): Sums {
  let [a, b] = [first, second];
  for (let at = from; at < to; at += 8) {
    a = (a + (littleEndian ? log.readUInt32LE(at) : log.readUInt32BE(at)) + b) >>> 0;
    b = (b + (littleEndian ? log.readUInt32LE(at + 4) : log.readUInt32BE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}
