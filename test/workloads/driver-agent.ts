// An agent that tests kill: it starts an instance by a driver, and says so.
//   node driver-agent.ts '{"place":{…},"image":"oci:…","mark":"…","dieAfterMs":7}'
import { createLogger } from '#base/log.ts'
import { systemClock } from '#base/clock.ts'
import { LEFT_VOLUME, NO_WAIT, openDriver, specOf, type DriverPlace } from './open-driver.ts'

export type DriverAgent = {
  readonly place: DriverPlace
  readonly image: string
  /** A word of the program of its instance. */
  readonly mark: string
  /** Ends by SIGKILL so long after it began to start the instance. */
  readonly dieAfterMs?: number
}

const { place, image, mark, dieAfterMs } = JSON.parse(process.argv[2] ?? '{}') as DriverAgent
const log = createLogger('agent', { level: 'error' })
const { driver } = await openDriver({
  ...place,
  where: { ...place.where, log, clock: systemClock },
})
const spec = await specOf(driver, image)
if (dieAfterMs !== undefined) setTimeout(() => process.kill(process.pid, 'SIGKILL'), dieAfterMs)
const instance = await driver.start(
  { ...spec, command: ['/usr/bin/perl', '/app/server.pl', mark], volumes: [LEFT_VOLUME] },
  { line: () => undefined, ended: () => undefined },
  NO_WAIT,
)
await instance.ready(new AbortController().signal)
process.stdout.write('ready\n')
