// The faster floor: node:http in front, undici's dispatch behind, the body collected before it is sent.
import { createServer } from 'node:http'
import { Pool } from 'undici'
import { listenForParent, upstreamPort } from './child.ts'

const pool = new Pool(`http://127.0.0.1:${upstreamPort()}`, { connections: 128, pipelining: 1 })

listenForParent(
  createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { 'content-type': type = 'application/json', authorization = '' } = request.headers
      pool.dispatch(
        {
          method: 'POST',
          path: request.url ?? '/',
          headers: { 'content-type': type, authorization },
          body: Buffer.concat(pieces),
        },
        {
          onRequestStart() {},
          onResponseStart(_controller, status, headers) {
            response.writeHead(status, headers)
          },
          onResponseData(_controller, bytes) {
            response.write(bytes)
          },
          onResponseEnd() {
            response.end()
          },
          onResponseError() {
            response.destroy()
          },
        },
      )
    })
  }),
)
