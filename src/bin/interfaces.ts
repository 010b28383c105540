import { commandsWith } from '../cli/commands.ts';

/** Joins the interfaces: the command line starts the two servers, and the HTTP server answers MCP at `/mcp`. */
export const commands = commandsWith({
  mcp: async () => (await import('../mcp/stdio.ts')).mcp,
  serve: async () => {
    const { serveWith } = await import('../http/serve.ts');
    return serveWith(async (version) => (await import('../mcp/http.ts')).createMcpHandler({ version }));
  },
});
