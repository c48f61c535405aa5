// The sensors of this node by its settings, the best first: a power meter at the wall sees memory, disks
// and the power supply, which the processor's own counters do not.
import { fault } from '#contract/errors.ts'
import { Secret } from '#base/log.ts'
import type { Config } from '#config/config.ts'
import { createPlug, type PlugKind } from '#metering/sources/plug.ts'
import { createRapl, hasRapl } from '#metering/sources/rapl.ts'
import type { MeterSource } from '#metering/sources/source.ts'
import type { GpuSource } from '#metering/gpu/nvidia-smi.ts'
import { withoutGpu } from './gpu.ts'

export type SensorConfig = Pick<
  Config,
  'plugUrl' | 'plugBandPct' | 'sysfsRoot' | 'sensorIdleMilliwatts'
>

/** Where the watts are when an address names the device only. A controller's chassis has no one name. */
const PAGES: Record<PlugKind, string | undefined> = {
  shelly: '/rpc/Switch.GetStatus?id=0',
  tasmota: '/cm?cmnd=Status%208',
  redfish: undefined,
}

/**
 * New readers, to be closed by the caller. A meter at the wall sees the cards too: where these have a meter of their own
 * (`gpu`), their power is taken off. Throws `settings_invalid`.
 */
export function openSensors(config: SensorConfig, gpu?: GpuSource): MeterSource[] {
  const wall = config.plugUrl === undefined ? [] : [openPlug(config.plugUrl, config.plugBandPct)]
  const [best, ...others] = [
    ...(gpu === undefined ? wall : wall.map((plug) => withoutGpu(plug, gpu))),
    ...(hasRapl(config.sysfsRoot) ? [createRapl({ sysfsRoot: config.sysfsRoot })] : []),
  ]
  if (best === undefined) return []
  const { sensorIdleMilliwatts: idleMilliwatts } = config
  return [idleMilliwatts === undefined ? best : { ...best, idleMilliwatts }, ...others]
}

function openPlug(setting: Secret, bandPct: number): MeterSource {
  const text = setting.reveal()
  const kind = (['shelly', 'tasmota', 'redfish'] as const).find((one) => text.startsWith(`${one}+`))
  if (kind === undefined) throw unfit('its kind is not known')
  const given = new URL(text.slice(kind.length + 1))
  const { username, password } = given
  given.username = ''
  given.password = ''
  const page = given.pathname === '/' && given.search === '' ? PAGES[kind] : ''
  if (page === undefined)
    throw unfit('a Redfish address needs its path: /redfish/v1/Chassis/…/Power')
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const basic = `Basic ${Buffer.from(login).toString('base64')}`
  return createPlug({
    kind,
    bandPct,
    url: page === '' ? given : new URL(page, given),
    ...(username === '' ? {} : { authorization: new Secret(basic) }),
  })
}

const unfit = (detail: string) =>
  fault('settings_invalid', `Could not use ERGON_PLUG_URL (--plug-url): ${detail}`)
