// node:http without the modules that its import loads. An ES import of a builtin reads each of its exports. Some exports
// of node:http (Node 24) are getters that load undici, HTTP/2, TLS and WebCrypto: 6.6 MiB of PSS in a process that needs
// none of them.
import type * as Http from 'node:http'

const http: typeof Http = process.getBuiltinModule('node:http')

export const { createServer, request, Agent, ServerResponse, STATUS_CODES } = http
