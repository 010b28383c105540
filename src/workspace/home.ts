/** The user's home folder, as `os.homedir` gives it; '' if none is known. Loading `node:os` takes longer than most commands read. */
export function homeFolder(): string {
  const { env, platform } = process;
  const named = env[platform === 'win32' ? 'USERPROFILE' : 'HOME'];
  return named || process.getBuiltinModule('node:os').homedir();
}
