import { join } from 'node:path';
import { commandsWith } from '../cli/commands.ts';

/** Joins the interfaces: the command line starts the servers, the proxy and the demo, and the HTTP server answers MCP at `/mcp`. */
export const commands = commandsWith({
  acp: async () => {
    const [{ acpWith }, { createRecorder }] = await Promise.all([
      import('../acp/acp.ts'),
      import('../hooks/recorder.ts'),
    ]);
    return acpWith(createRecorder);
  },
  demo: async () => {
    const [{ demoWith }, { findPackage }] = await Promise.all([import('./demo/demo.ts'), import('./package.ts')]);
    const { argv, env, stdout } = process;
    return demoWith({
      program: join(findPackage().folder, 'dist', 'bin', 'holdfast.cjs'),
      isJson: argv.includes('--json'),
      isPainted: stdout.isTTY === true && !env['NO_COLOR'],
    });
  },
  mcp: async () => (await import('../mcp/stdio.ts')).mcp,
  serve: async () => {
    const [{ serveWith }, { findPackage }] = await Promise.all([import('../http/serve.ts'), import('./package.ts')]);
    const { folder, version } = findPackage();
    const openMcp = async () => (await import('../mcp/http.ts')).createMcpHandler({ version });
    return serveWith({ version, web: join(folder, 'dist', 'web'), openMcp });
  },
});
