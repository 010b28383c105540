import { join } from 'node:path';
import { commandsWith } from '../cli/commands.ts';

/** Joins the interfaces: the command line starts the two servers, and the HTTP server answers MCP at `/mcp`. */
export const commands = commandsWith({
  mcp: async () => (await import('../mcp/stdio.ts')).mcp,
  serve: async () => {
    const [{ serveWith }, { findPackage }] = await Promise.all([import('../http/serve.ts'), import('./package.ts')]);
    const { folder, version } = findPackage();
    const openMcp = async () => (await import('../mcp/http.ts')).createMcpHandler({ version });
    return serveWith({ version, web: join(folder, 'dist', 'web'), openMcp });
  },
});
