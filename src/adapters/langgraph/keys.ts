import { createHash } from 'node:crypto';

/** The run of a thread. Only a hashed id has a dot in it, so that no other thread can have the same run. */
export function runOf(thread: string): string {
  return /^[A-Za-z0-9_-]{1,90}$/.test(thread) ? `lg-${thread}` : `lg.${sha256(thread).slice(0, 40)}`;
}

/** Keys of values are one line of at most 200 characters: a part that is long or has other characters is hashed. */
function part(text: string | number): string {
  const whole = String(text);
  return /^[\w.-]{0,48}$/.test(whole) ? whole : `~${sha256(whole).slice(0, 40)}`;
}

export const THREAD = 'thread';
export const CHECKPOINTS = 'cp/';
export const headKey = (namespace: string): string => `head/${part(namespace)}`;
export const checkpointKey = (namespace: string, id: string): string => `cp/${part(namespace)}/${part(id)}`;
/** A version is not unique: two branches of a thread count on from the same one. */
export const channelKey = (namespace: string, channel: string, version: string | number, checkpoint: string): string =>
  `ch/${part(namespace)}/${part(channel)}/${part(version)}/${part(checkpoint)}`;
export const writesKey = (namespace: string, checkpoint: string): string => `w/${part(namespace)}/${part(checkpoint)}`;
export const writeKey = (namespace: string, checkpoint: string, task: string, index: number): string =>
  `${writesKey(namespace, checkpoint)}/${part(task)}/${index}`;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
