import { homedir } from 'node:os';
import { conversationsIn } from '../clients/recognise.ts';
import { findHomes } from '../clients/transcripts.ts';
import type { Clients } from '../operations/context.ts';

/** Where the clients keep their own files, and which of their conversations this process belongs to. */
export async function clientsFrom(environment: Readonly<Record<string, string | undefined>>): Promise<Clients> {
  return { homes: await findHomes(environment, homedir()), current: conversationsIn(environment) };
}
