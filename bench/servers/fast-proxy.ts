// fast-proxy with undici to a unix socket: the socket, and the folder of the peers.
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { listenForParent } from './child.ts'

type FastProxy = (options: object) => { readonly proxy: (...of: unknown[]) => void }

const [socketPath = '', peers = ''] = process.argv.slice(2)
const fastProxy = createRequire(join(peers, 'package.json'))('fast-proxy') as FastProxy
const { proxy } = fastProxy({
  base: 'http://instance',
  undici: { socketPath, connections: 128 },
})
const answer: RequestListener = (request, response) => proxy(request, response, request.url, {})

listenForParent(createServer(answer))
