import { parseStoreAddress } from '../../../core/store-address.ts';
import { oneLine } from '../../../core/text.ts';
import type { WorkspaceConfig } from '../../../workspace/state/workspace-settings.ts';

/** Every setting with what it does, for someone who decides about it. */
export function settingsInWords({ store, notify, capture }: WorkspaceConfig): string[] {
  const ignored = [...(capture?.ignorePaths ?? []), ...(capture?.ignoreCommands ?? [])];
  return [
    ...(store === undefined ? [] : [`store: everything recorded here is sent to ${placeOf(store)}`]),
    ...(notify === undefined
      ? []
      : typeof notify === 'string'
        ? [`notify: what needs a person is posted to ${placeOf(notify)}, with its words`]
        : [`notify: runs \`${oneLine(notify.join(' '), 200)}\` on this machine`]),
    ...(ignored.length === 0 ? [] : [`capture: not recorded are ${oneLine(ignored.join(', '), 300)}`]),
  ];
}

function placeOf(address: string): string {
  try {
    return oneLine(parseStoreAddress(address).place.replace(/^\w+:\/\/|\/$/g, ''), 200);
  } catch {
    return oneLine(address, 200);
  }
}
