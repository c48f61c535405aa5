// The sum of a receipt: its parts, the total, times price, times grams. The worker recomputed each line.
import type { Charge } from '#contract/ledger/charge.ts'
import { grouped, NBSP } from '#console/figures/digits.ts'
import { partWords } from './part-words.ts'

/** mg per kWh as grams, without zeros at the end. */
const grams = (mg: string): string => `${Number(mg) / 1000}${NBSP}g`

export function ReceiptSum({ charge }: { readonly charge: Charge }) {
  const whole = (value: string, unit: string) => `${grouped(BigInt(value))}${NBSP}${unit}`
  return (
    <div className="sum">
      <table>
        <tbody>
          {charge.parts.map((part, nth) => {
            const words = partWords(part, charge)
            return (
              // Parts have no id: several can have one meter.
              // oxlint-disable-next-line react/no-array-index-key
              <tr key={nth}>
                <td>
                  {words.what}
                  <small className="muted">{words.how}</small>
                </td>
                <td className="num">{whole(part.energy_nj, 'nJ')}</td>
              </tr>
            )
          })}
          <tr className="total">
            <td>Energy</td>
            <td className="num">{whole(charge.energy_nj, 'nJ')}</td>
          </tr>
          <tr>
            <td>
              × {whole(charge.pusd_per_j, 'p$')} a joule{charge.free && ', free today'}
            </td>
            <td className="num">{whole(charge.charge_pusd, 'p$')}</td>
          </tr>
          <tr>
            <td>
              × {grams(charge.factor.mg_per_kwh)} a kWh, {charge.factor.basis}
            </td>
            <td className="num">{whole(charge.carbon_pg, 'pg')} CO₂e</td>
          </tr>
        </tbody>
      </table>
    </div>
  )
}
