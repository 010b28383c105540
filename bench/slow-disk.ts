import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SYNC_MS = 4;

const SOURCE = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
#define SLOW(name) int name(int fd) { \\
  static int (*real)(int); \\
  if (!real) real = (int (*)(int)) dlsym(RTLD_NEXT, #name); \\
  usleep(${SYNC_MS * 1000}); \\
  return real(fd); }
SLOW(fsync)
SLOW(fdatasync)
`;

/** A library that makes every wait for the disk 4 ms longer in processes that load it; null without a C compiler. */
export function slowDiskLibrary(folder: string): string | null {
  mkdirSync(folder, { recursive: true });
  const source = join(folder, 'slow-disk.c');
  const library = join(folder, 'slow-disk.so');
  writeFileSync(source, SOURCE);
  const built = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']);
  return built.status === 0 ? library : null;
}
