// `ergon meter calibrate`: measures this machine's curve against its best sensor and keeps it.
import { sleep, systemClock } from '#base/clock.ts'
import { writeDurably } from '#base/durable-file.ts'
import { fault } from '#contract/errors.ts'
import { calibrate, type CalibrateDeps, type CalibrationStep } from '#metering/calibrate.ts'
import { calibrationText, type Calibration } from '#metering/calibration.ts'
import { createBusyReader } from '#metering/sources/busy.ts'
import type { GpuSource } from '#metering/gpu/nvidia-smi.ts'
import { startLoad } from './load.ts'
import { readCpuInfo } from './model.ts'
import { openSensors, type SensorConfig } from './sources.ts'

// Six steps of 25 s, and the start of the loads.
const TIMEOUT_MS = 300_000

/**
 * Loads the machine in steps against the best sensor, for two and a half minutes, and keeps the curve:
 * it holds from the next start on. Throws invalid_request without a sensor or while another one runs,
 * upstream_failed when the sensor falls silent or does not follow the load.
 */
export type Calibrator = (
  signal: AbortSignal,
  progress: (step: CalibrationStep) => void,
) => Promise<Calibration>

/** One calibration at a time; `pace` shortens the steps, for tests. */
export function createCalibrator(deps: {
  readonly config: SensorConfig
  /** The cards, where they have a meter of their own. */
  readonly gpu?: GpuSource | undefined
  readonly calibrationFile: string
  readonly pace?: Pick<CalibrateDeps, 'settleMs' | 'samples' | 'sampleMs'>
}): Calibrator {
  let running = false
  return async (signal, progress) => {
    if (running) throw fault('invalid_request', 'Could not calibrate: another calibration runs')
    running = true
    const cpu = readCpuInfo()
    const busy = createBusyReader()
    // Readers of their own: a counter is read in steps here and in windows by the meter.
    const sensors = openSensors(deps.config, deps.gpu)
    try {
      const [reference] = sensors
      if (reference === undefined)
        throw fault(
          'invalid_request',
          'Could not calibrate: there is no sensor; set ERGON_PLUG_URL, or run where RAPL can be read',
        )
      const made = await calibrate(
        {
          cpu,
          reference,
          busyNs: busy.busyNs,
          load: (permille, within) => startLoad({ permille, processes: cpu.cpus }, within),
          clock: systemClock,
          sleep,
          progress,
          ...deps.pace,
        },
        AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      )
      writeDurably(deps.calibrationFile, calibrationText(made), 0o600)
      return made
    } finally {
      running = false
      busy.close()
      await Promise.all(sensors.map((sensor) => sensor.close()))
    }
  }
}
