// A cell that an account pays for: it uses a little CPU all the time.
import { onParentGone, readConfig } from '#base/parent.ts'
import { serveInside } from '#node/inside.ts'

const EVERY_MS = 20
const BUSY_MS = 5

const { socket } = await readConfig<{ readonly socket: string }>()
const inside = await serveInside(socket, { '/readyz': () => ({ ready: true }) })
const spinning = setInterval(() => {
  const endMs = performance.now() + BUSY_MS
  while (performance.now() < endMs) continue
}, EVERY_MS)
const stop = () => {
  clearInterval(spinning)
  void inside.close()
}
process.once('SIGTERM', stop)
onParentGone(stop)
