module latchwork

go 1.25
