import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { KeptConnections } from '#http-client/kept-connections.ts'
import { endableCall } from './call-end.ts'

const CELLS: [string, RequestListener][] = [
  ['never knows the call', (_request, response) => void response.writeHead(404).end()],
  ['never answers', () => undefined],
]
for (const [what, cell] of CELLS)
  test(
    `a cell that ${what} is asked for a limited time to end it`,
    { timeout: 10_000 },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'ergon-end-'))
      const socketPath = join(folder, 'cell.sock')
      const server = createServer(cell).listen(socketPath)
      await once(server, 'listening')
      const rules = { idleMs: 1000, lookMs: 1000 }
      const pool = new KeptConnections({ path: socketPath }, { piece() {} }, rules)
      t.after(async () => {
        pool.destroy()
        server.closeAllConnections()
        server.close()
        rmSync(folder, { recursive: true })
      })
      const goesOn = new AbortController().signal
      await assert.rejects(endableCall(pool, 120).leave(goesOn), {
        name: 'TimeoutError',
      })
      const isOver = AbortSignal.abort()
      await assert.rejects(endableCall(pool).leave(isOver), { name: 'AbortError' })
    },
  )
