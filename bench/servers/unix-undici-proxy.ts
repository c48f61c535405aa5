// The bar of the ingress: node:http in front, undici's dispatch to a unix socket behind, bodies streamed, nothing checked.
import { createServer } from 'node:http'
import { Pool } from 'undici'
import { listenForParent } from './child.ts'

const pool = new Pool('http://instance', { socketPath: process.argv[2] ?? '', connections: 128 })

listenForParent(
  createServer((request, response) => {
    pool.dispatch(
      {
        method: 'GET',
        path: request.url ?? '/',
        headers: { host: request.headers.host ?? '' },
      },
      {
        onRequestStart() {},
        onResponseStart(controller, status, headers) {
          delete headers['connection']
          delete headers['keep-alive']
          response.writeHead(status, headers)
          response.on('drain', () => controller.resume())
        },
        onResponseData(controller, bytes) {
          if (!response.write(bytes)) controller.pause()
        },
        onResponseEnd() {
          response.end()
        },
        onResponseError() {
          response.destroy()
        },
      },
    )
  }),
)
