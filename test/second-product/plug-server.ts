// A plug at the wall that measures 31.25 W, until it is stopped.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const plug = createServer((_, response) => response.end('{"apower": 31.25}'))

/** Starts it; its address, as a setting names it. */
export async function startPlug(): Promise<string> {
  plug.listen(0, '127.0.0.1')
  await once(plug, 'listening')
  return `shelly+http://127.0.0.1:${(plug.address() as AddressInfo).port}`
}

export function stopPlug(): void {
  plug.closeAllConnections()
  plug.close()
}
