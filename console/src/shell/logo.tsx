// The name of the product with its mark.

import mark from '../favicon.svg';
import './logo.css';

export function Logo() {
  return (
    <span className="logo">
      <img src={mark} alt="" width={24} height={24} />
      isthmus
    </span>
  );
}
