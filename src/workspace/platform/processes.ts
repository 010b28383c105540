import { cimPort } from './cim.ts';
import { procPort } from './proc.ts';
import type { ProcessPort } from './process-port.ts';
import { psPort } from './ps.ts';
import { hasProc, isWindows } from './system.ts';

export const processes: ProcessPort = hasProc ? procPort : isWindows ? cimPort : psPort;
