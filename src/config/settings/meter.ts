// The settings of the meter: its sensors, and the carbon of its energy.
import { z } from 'zod'
import { Secret } from '#base/log.ts'
import { count, oneOfWords, whole, secret } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

const isPlugUrl = (text: string) =>
  /^(shelly|tasmota|redfish)\+https?:\/\//.test(text) && URL.canParse(text)

export const METER_SETTINGS = {
  carbonZone: {
    name: 'ERGON_CARBON_ZONE',
    flag: 'carbon-zone',
    help: 'Electricity zone: an ISO code such as DE or US, or EU; others need a live source (default WORLD, assumed)',
    check: z
      .string()
      .regex(/^[A-Z]{2,5}(-[A-Z0-9]{1,5}){0,3}$/, 'must be a zone such as DE')
      .default('WORLD'),
  },
  carbonSource: {
    name: 'ERGON_CARBON_SOURCE',
    flag: 'carbon-source',
    help: 'Live carbon figures: uk, or electricity-maps with ERGON_CARBON_TOKEN (default: built-in, yearly)',
    check: oneOfWords(['uk', 'electricity-maps']).optional(),
  },
  carbonToken: {
    name: 'ERGON_CARBON_TOKEN',
    flag: 'carbon-token-file',
    isSecret: true,
    help: 'Key of the carbon source',
    check: secret.optional(),
  },
  wattTimeLogin: {
    name: 'ERGON_WATTTIME_LOGIN',
    flag: 'watttime-login-file',
    isSecret: true,
    help: '<user>:<password> at WattTime: `ergon meter` shows what one more kWh would cause; never billed',
    check: z
      .string()
      .regex(/^[^:]+:./, 'must be <user>:<password>')
      .transform((text) => new Secret(text))
      .optional(),
  },
  wattTimeRegion: {
    name: 'ERGON_WATTTIME_REGION',
    flag: 'watttime-region',
    help: 'Region as WattTime names it, for example CAISO_NORTH',
    check: z
      .string()
      .regex(/^[A-Z0-9_]{2,40}$/, 'must be a region such as CAISO_NORTH')
      .optional(),
  },
  // A building takes at least what its machines take.
  pueMilli: {
    name: 'ERGON_PUE_MILLI',
    flag: 'pue-milli',
    help: 'Overhead of the building in thousandths (default 1000)',
    check: whole.refine((milli) => milli >= 1000n, 'must be 1000 or more').default(1000n),
  },
  // A secret: a power meter's address may contain its password.
  plugUrl: {
    name: 'ERGON_PLUG_URL',
    flag: 'plug-url',
    help: 'HTTP power meter: shelly+http://…, tasmota+http://… or redfish+https://user:password@…/redfish/v1/Chassis/1/Power',
    check: z
      .string()
      .refine(isPlugUrl, 'must be shelly+, tasmota+ or redfish+ before http(s)://…')
      .transform((text) => new Secret(text))
      .optional(),
  },
  // No data sheet was given: wider than any that we know of.
  plugBandPct: {
    name: 'ERGON_PLUG_BAND_PCT',
    flag: 'plug-band-pct',
    help: 'Declared error of the power meter in percent, from its data sheet (default 10)',
    check: count(1, 100).default(10),
  },
  sensorIdleMilliwatts: {
    name: 'ERGON_SENSOR_IDLE_MILLIWATTS',
    flag: 'sensor-idle-milliwatts',
    help: 'What the best sensor shows when nothing runs, in milliwatts (default: by calibration, else guessed)',
    check: whole.optional(),
  },
  sysfsRoot: {
    name: 'ERGON_SYSFS_ROOT',
    flag: 'sysfs-root',
    help: 'Where the kernel shows its sensors (default /sys)',
    check: z.string().default('/sys'),
  },
  windowsDays: {
    name: 'ERGON_WINDOWS_DAYS',
    flag: 'windows-days',
    help: 'For how many days windows of the meter are kept: a row a second for a day, then a row for five minutes; 0 for ever (default 400)',
    check: count(0, 36_500).default(400),
  },
  bundleDays: {
    name: 'ERGON_BUNDLE_DAYS',
    flag: 'bundle-days',
    help: 'After how many days the charges of an account are bundled, about 50 bytes each in place of 1.4 kB; receipts and sums stay as they are; 0 never (default 31)',
    check: count(0, 36_500).default(31),
  },
} satisfies Settings
