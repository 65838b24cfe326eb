// A program that reads through a null pointer in a function that is inlined twice. The test finds
// the lines by the marks at their ends.
namespace shop {
static inline __attribute__((always_inline)) int inner(volatile int *where) {
    return *where; // inner
}
static inline __attribute__((always_inline)) int middle(volatile int *where) {
    return inner(where) + 1; // middle
}
__attribute__((noinline)) int outer(volatile int *where, int more) {
    return middle(where) * more; // outer
}
template <typename Price> struct Shelf {
    Price price{};
    __attribute__((noinline)) int at(volatile int *where) const {
        return outer(where, 3) + static_cast<int>(price); // at
    }
};
} // namespace shop

int main(int argc, char **) {
    volatile int *nothing = nullptr;
    shop::Shelf<double> shelf;
    return shelf.at(nothing) + argc; // main
}
