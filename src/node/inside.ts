// The pages of a cell on its own unix socket, for the agent: readiness, figures, metrics.
import { messageOf } from '#base/errors.ts'
import { jsonText, serveUnix, type UnixServer } from '#base/unix-server.ts'

/** Pages by path; each gets the query of its address. The error of a page is answered with 503 and its message. */
export type Pages = Readonly<Record<string, (query: URLSearchParams) => unknown>>

const HEADERS_TIMEOUT_MS = 2000

/** Serves pages as JSON, or as text when a page gives a string. */
export const serveInside = (socket: string, pages: Pages): Promise<UnixServer> =>
  serveUnix({ socket, headersTimeoutMs: HEADERS_TIMEOUT_MS }, (request, response) => {
    void (async () => {
      const [path = '', query] = (request.url ?? '').split('?', 2)
      const page = pages[path]
      try {
        const content = page === undefined ? undefined : await page(new URLSearchParams(query))
        response.writeHead(page === undefined ? 404 : 200)
        response.end(typeof content === 'string' ? content : jsonText(content))
      } catch (error) {
        response.writeHead(503)
        response.end(messageOf(error))
      }
    })()
  })
