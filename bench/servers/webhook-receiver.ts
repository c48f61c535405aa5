// A receiver of webhooks that reads each request and answers 204; `count` asks for the number so far.
import { createServer } from 'node:http'
import { listenForParent } from './child.ts'

let count = 0
const server = createServer((request, response) => {
  request.resume()
  request.once('end', () => {
    count++
    response.writeHead(204).end()
  })
})
process.on('message', (asked) => {
  if (asked === 'count') process.send?.({ count })
})
listenForParent(server)
