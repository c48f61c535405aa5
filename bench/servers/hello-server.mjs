// The module of a function, served by Node.js alone on a port of 127.0.0.1.
import { createServer } from 'node:http'
import { argv } from 'node:process'
import { pathToFileURL } from 'node:url'

const [, , file, port] = argv
const { default: handler } = await import(pathToFileURL(file).href)
const server = createServer(async (request, response) => {
  const made = await handler.fetch(new Request(`http://localhost${request.url}`))
  const body = Buffer.from(await made.arrayBuffer())
  response.writeHead(made.status, { 'content-length': body.length }).end(body)
})
server.keepAliveTimeout = 60_000
server.listen(Number(port), '127.0.0.1')
