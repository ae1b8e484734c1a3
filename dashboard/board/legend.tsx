import { NotMeasured } from '../parts/states.js'

/** What the marks of the picture mean. */
export function Legend({ shape, note }: { shape: 'lines' | 'rows'; note: string | null }) {
  return (
    <footer class="legend">
      <ul>
        {shape === 'lines' ? (
          <li>
            <i class="key string" /> straight: at the peg
          </li>
        ) : (
          <li>
            <i class="key within" /> within 10 bps
          </li>
        )}
        <li>
          <i class="key above" /> {shape === 'lines' ? 'right: ' : ''}over 10 bps above
        </li>
        <li>
          <i class="key below" /> {shape === 'lines' ? 'left: ' : ''}over 10 bps below
        </li>
        {shape === 'lines' ? (
          <li>
            <i class="key guides" /> guides at ±10 and ±50 bps
          </li>
        ) : (
          <li>
            <i class="key shades" /> in layers, each from the bottom: up to 10, to 50, to 250 bps
          </li>
        )}
        {shape === 'lines' && (
          <li>
            <i class="key break" /> bar beside it: a peg break, wide if severe
          </li>
        )}
        <li>
          <i class="key hatch" /> no quote; small: part of the time
        </li>
        <li>
          <i class="key dots" /> not measured
        </li>
      </ul>
      {note !== null && <NotMeasured message={note} />}
    </footer>
  )
}
