// The upstream of the ingress bench: pages of 1 KiB and 64 KiB on the unix socket of the first argument.
import { createServer } from 'node:http'

const PAGES: Readonly<Record<string, Buffer>> = {
  '/1k': Buffer.alloc(1024, 'j'),
  '/64k': Buffer.alloc(65_536, 'j'),
}

const server = createServer((request, response) => {
  const page = PAGES[request.url ?? '']
  if (page === undefined) return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': page.length })
  response.end(page)
})
server.keepAliveTimeout = 60_000
server.listen(process.argv[2], () => process.send?.({ port: 0 }))
process.once('disconnect', () => process.exit(0))
