use super::super::fixtures::{console, frame, house, screen};
use super::super::theme::{Background, Colours, Theme};

#[test]
fn look() {
    let theme = Theme::new(Background::Dark, Colours::None, false);
    for size in [(80, 24), (120, 40), (200, 60), (50, 16)] {
        let model = console(house(), size);
        println!("{}", screen(&frame(&model, &theme)));
    }
}
