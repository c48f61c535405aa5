// Figures in two weights: heavy as far as the band vouches, light for what is billed and lies inside it.
import {
  exactDigits,
  registerOf,
  spoken,
  type Digits,
  type Figure,
} from '#console/figures/known.ts'

type Size = 'large' | 'middle' | 'receipt-size'

/** The large figure of a page. `old`: it is from before the connection was lost. */
export function Register(props: {
  /** Undefined: empty, as there is nothing yet. */
  readonly figure: Figure | undefined
  readonly size?: Size
  readonly unit?: string
  readonly isOld?: boolean
}) {
  const { figure, size = 'large', unit = 'joules', isOld = false } = props
  if (figure === undefined)
    return (
      <p className={`register ${size}`}>
        <span className="digits old" aria-hidden="true">
          –
        </span>
        <span className="spoken">nothing yet</span>
      </p>
    )
  const digits = registerOf(figure)
  const length = digits.heavy.length + digits.light.length
  return (
    // A narrow page makes the digits as large as they fit.
    <p className={`register ${size}`} style={{ '--digits': length } as React.CSSProperties}>
      <span className={isOld ? 'digits old' : 'digits'} aria-hidden="true">
        <Weights digits={digits} />
        <span className="unit">{unit}</span>
      </span>
      <span className="spoken">{spoken(figure)}</span>
    </p>
  )
}

/** An exact figure in a row, without its unit. */
export function Exact({ figure }: { readonly figure: Figure }) {
  return (
    <span className="digits">
      <Weights digits={exactDigits(figure)} />
    </span>
  )
}

const Weights = ({ digits: { heavy, light } }: { readonly digits: Digits }) => (
  <>
    {heavy !== '' && <b>{heavy}</b>}
    {light !== '' && <i>{light}</i>}
  </>
)
