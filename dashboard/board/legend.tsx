import { NotMeasured } from '../parts/states.js'

/** What the marks of the picture mean. */
export function Legend({ shape, note }: { shape: 'lines' | 'rows'; note: string | null }) {
  return (
    <footer class="legend">
      <ul>
        {shape === 'lines' && (
          <li>
            <i class="key string" /> straight: at the peg
          </li>
        )}
        <li>
          <i class="key above" /> {shape === 'lines' ? 'to the right: ' : ''}above, more than 10 bps
        </li>
        <li>
          <i class="key below" /> {shape === 'lines' ? 'to the left: ' : ''}below, more than 10 bps
        </li>
        {shape === 'lines' ? (
          <li>
            <i class="key guides" /> guides at ±10 and ±50 bps
          </li>
        ) : (
          <li>darker: beyond 10 and 50 bps</li>
        )}
        <li>
          <i class="key hatch" /> no quote
        </li>
        <li>
          <i class="key dots" /> not measured
        </li>
      </ul>
      {note !== null && <NotMeasured message={note} />}
    </footer>
  )
}
