import { describe, expect, it } from 'vitest';
import { isDeviceName, portableName } from '../../core/portable-name.ts';
import { pathBelow } from './paths.ts';
import { homeFolder, stateFolderFor } from './places.ts';
import { openCommand, programEndings } from './system.ts';

const table: readonly [on: string, folder: string, path: string, below: string | null][] = [
  ['linux', '/home/ada/shop', '/home/ada/shop/src/a.ts', 'src/a.ts'],
  ['linux', '/home/ada/shop', '/home/ada/shop', ''],
  ['linux', '/home/ada/shop', '/home/ada/shop/..x/a', '..x/a'],
  ['linux', '/home/ada/shop', '/home/ada/shopping/a', null],
  ['linux', '/home/ada/shop', '/home/ada', null],
  ['linux', '/home/ada/shop', '/home/ada/SHOP/a', null],
  ['linux', '/', '/etc/passwd', 'etc/passwd'],
  ['darwin', '/Users/Ada/Shop', '/users/ada/shop/Src/A.ts', 'Src/A.ts'],
  ['darwin', '/Users/Ada/Shop', '/users/ada/shopping/a', null],
  ['win32', 'C:\\Users\\Ada\\shop', 'C:\\Users\\Ada\\shop\\src\\a.ts', 'src/a.ts'],
  ['win32', 'C:\\Users\\Ada\\shop', 'c:\\users\\ada\\SHOP\\Src\\a.ts', 'Src/a.ts'],
  ['win32', 'C:\\Users\\Ada\\shop', 'C:/Users/Ada/shop/src/a.ts', 'src/a.ts'],
  ['win32', 'C:\\Users\\Ada\\shop', 'D:\\Users\\Ada\\shop\\a.ts', null],
  ['win32', 'C:\\Users\\Ada\\shop', 'C:\\Users\\Ada\\shop2\\a.ts', null],
  ['win32', 'C:\\Users\\Ada\\shop', '\\\\?\\C:\\Users\\Ada\\shop\\a.ts', 'a.ts'],
  ['win32', '\\\\?\\UNC\\nas\\work\\shop', '\\\\nas\\work\\shop\\a\\b.ts', 'a/b.ts'],
  ['win32', '\\\\nas\\work\\shop', '\\\\nas\\other\\shop\\b.ts', null],
];

describe('a path below a folder', () => {
  it.each(table)('on %s, in %s: %s is %j', (on, folder, path, below) => {
    expect(pathBelow(folder, path, on)).toBe(below);
  });
});

describe('the places of a user', () => {
  it.each([
    ['linux', { HOME: '/home/ada' }, '/home/ada/.local/state/holdfast'],
    ['linux', { HOME: '/home/ada', XDG_STATE_HOME: '/var/ada' }, '/var/ada/holdfast'],
    ['darwin', { HOME: '/Users/ada' }, '/Users/ada/Library/Application Support/holdfast'],
    [
      'win32',
      { USERPROFILE: 'C:\\Users\\Ada', LOCALAPPDATA: 'C:\\Users\\Ada\\AppData\\Local' },
      'C:\\Users\\Ada\\AppData\\Local\\holdfast',
    ],
    ['win32', { USERPROFILE: 'C:\\Users\\Ada' }, null],
    ['win32', { LOCALAPPDATA: 'C:\\L', HOLDFAST_STATE_HOME: 'D:\\state' }, 'D:\\state'],
  ])('on %s with %j are in %s', (on, env: Record<string, string>, folder) => {
    expect(stateFolderFor(env, homeFolder(env, on), on)).toBe(folder);
  });
});

describe('names', () => {
  it.each(['NUL', 'nul', 'aux.md', 'COM1', 'lpt9.txt', 'con.x.y'])('%s is a device on Windows', (name) => {
    expect(isDeviceName(name)).toBe(true);
    expect(isDeviceName(portableName(name))).toBe(false);
    expect(decodeURIComponent(portableName(name))).toBe(name);
  });

  it.each(['auxiliary.md', 'null', 'com10', 'console'])('%s is a name like any other', (name) => {
    expect(isDeviceName(name)).toBe(false);
    expect(portableName(name)).toBe(name);
  });

  it('are escaped where a system would read them as others', () => {
    expect(portableName('a.')).toBe('a%2E');
    expect(portableName('a/b:c*?"<>|\\ d')).toMatch(/^[\w%]+$/);
  });

  it('of programs end as the system asks, and a file is opened as it does', () => {
    expect(programEndings('win32')).toEqual(['.exe', '.cmd', '.bat']);
    expect(programEndings('darwin')).toEqual(['']);
    expect(openCommand('/tmp/a.html', 'darwin')).toEqual(['open', '/tmp/a.html']);
    expect(openCommand('C:\\a b.html', 'win32')).toEqual(['cmd', '/c', 'start', '', 'C:\\a b.html']);
    expect(openCommand('/tmp/a.html', 'linux')).toEqual(['xdg-open', '/tmp/a.html']);
  });
});
