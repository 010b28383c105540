import { homedir } from 'node:os';
import { type ClientVariables, clients } from '../clients/index.ts';
import { findHomes } from '../clients/transcripts.ts';
import type { Clients } from '../operations/context.ts';

/** Where the clients keep their own files, and which of their conversations this process belongs to. */
export async function clientsFrom(environment: Readonly<Record<string, string | undefined>>): Promise<Clients> {
  const variables = Object.values(clients).flatMap(
    (client: { variables: ClientVariables }) => client.variables.conversation ?? [],
  );
  return {
    homes: await findHomes(environment, homedir()),
    current: variables.flatMap((name) => environment[name] || []),
  };
}
