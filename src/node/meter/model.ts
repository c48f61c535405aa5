// The model of this machine: as it was calibrated, else from published coefficients.
import { existsSync, readFileSync } from 'node:fs'
import { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { modelOfCalibration, parseCalibration } from '#metering/calibration.ts'
import { parseCpuInfo, type CpuInfo } from '#metering/sources/cpu-info.ts'
import { modelOfCpu, type CpuModel } from '#metering/sources/model.ts'

/** Name of the calibration in the data folder. */
export const CALIBRATION_FILE = 'calibration.json'

export const readCpuInfo = (): CpuInfo => parseCpuInfo(readFileSync('/proc/cpuinfo', 'utf8'))

/**
 * The model. A calibration that cannot be used (of another processor, damaged) is not: the basis says
 * why, which windows, receipts' bands and `ergon meter` show.
 */
export function openModel(calibrationFile: string, log: Logger): CpuModel {
  const cpu = readCpuInfo()
  const published = modelOfCpu(cpu)
  if (!existsSync(calibrationFile)) return published
  try {
    return modelOfCalibration(parseCalibration(readFileSync(calibrationFile, 'utf8'), cpu))
  } catch (error) {
    if (!(error instanceof ErgonError)) throw error
    log.warn('The calibration is not used', { error: error.message })
    return { ...published, basis: `${published.basis} (${error.message})` }
  }
}
