const button = document.getElementById('print');
if (button !== null) {
  button.hidden = false;
  button.addEventListener('click', () => window.print());
}
