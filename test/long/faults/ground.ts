import postgres from 'postgres';
import type { CrashAction } from './crash-actions.ts';
import type { Environment, Place } from './place.ts';

/** Where the journal of a place is kept, and so how the place is copied and removed. */
export interface Ground {
  /** Whether sends over sockets count as writes. */
  sockets: boolean;
  prepare(action: CrashAction): Promise<Place>;
  copy(place: Place): Promise<Place>;
  /** Waits until the server has finished what the killed process started. */
  rest?(place: Place): Promise<void>;
  remove(place: Place): Promise<void>;
}

/** The journal is a file in the folder. */
export const fileGround: Ground = {
  sockets: false,
  prepare: async (action) => action.prepare(),
  copy: async (place) => place.copy(),
  remove: async (place) => place.remove(),
};

/** The journal is its own database on a server, so sends count as well as writes to files. */
export function openServerGround(url: string): Ground & { close(): Promise<void> } {
  const sql = postgres(url, { max: 4, onnotice: () => {}, fetch_types: false });
  let last = 0;
  const storeOf = (name: string): Environment => ({ HOLDFAST_STORE: url.replace(/[^/]+$/, name) });
  const nameOf = ({ env }: Place): string => env['HOLDFAST_STORE']?.split('/').at(-1) ?? '';
  const newName = (): string => `fault_${++last}`;
  return {
    sockets: true,
    async prepare(action) {
      const name = newName();
      await sql.unsafe(`CREATE DATABASE ${name}`);
      return action.prepare(storeOf(name));
    },
    async copy(place) {
      const name = newName();
      await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${nameOf(place)}`);
      const other = place.copy();
      Object.assign(other.env, storeOf(name));
      return other;
    },
    async rest(place) {
      const busy = () => sql`SELECT FROM pg_stat_activity WHERE datname = ${nameOf(place)}`;
      while ((await busy()).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async remove(place) {
      place.remove();
      await sql.unsafe(`DROP DATABASE ${nameOf(place)} WITH (FORCE)`);
    },
    close: () => sql.end(),
  };
}
