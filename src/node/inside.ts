// The small HTTP server on a cell's own unix socket, for the agent: readiness, figures, metrics.
import { rmSync } from 'node:fs'
import { messageOf } from '#base/errors.ts'
import { createServer } from '#base/node-http.ts'

/** One page by path; what it throws is answered with 503 and its message. */
export type Pages = Readonly<Record<string, () => unknown>>

const HEADERS_TIMEOUT_MS = 2000

/** Serves pages as JSON (or as text, when a page gives a string). */
export async function serveInside(
  socket: string,
  pages: Pages,
): Promise<{ close(): Promise<void> }> {
  rmSync(socket, { force: true })
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS }, (request, response) => {
    void (async () => {
      const page = pages[request.url ?? '']
      try {
        const content = page === undefined ? undefined : await page()
        response.writeHead(page === undefined ? 404 : 200)
        response.end(
          typeof content === 'string' ? content : JSON.stringify(content ?? null, printable),
        )
      } catch (error) {
        response.writeHead(503)
        response.end(messageOf(error))
      }
    })()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socket, resolve)
  })
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const printable = (_key: string, value: unknown) =>
  typeof value === 'bigint' ? value.toString() : value
